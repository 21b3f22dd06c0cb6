"""The model test: a stored array beside a NumPy array, and all that may be done to both.

`elements` and `layouts` say what arrays are drawn, `selections` and `views` which parts of them,
`array` and `two_handles` what is done, and `drawn` counts it. Everything is drawn from
``random.Random`` of a number, so that a number is an example, the same one on every machine.
"""
