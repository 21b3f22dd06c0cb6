"""NumPy data types <-> the data types and fill values of metadata documents."""
