"""`zarrix demo`: a data set that is made, read as training reads it, and compared with others."""
