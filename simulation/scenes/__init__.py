"""Generated scenes with exactly known classes and boxes, in the format of Open Images."""
