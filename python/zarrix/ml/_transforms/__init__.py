"""Functions of samples, and the processes that run them."""
