"""What an item is: windows, rows, clips, crops and grids of arrays, filtered, mixed and split."""
