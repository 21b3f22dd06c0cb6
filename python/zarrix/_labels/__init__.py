"""From the labels of an axis, such as dates and degrees, to the indices that they stand for."""
