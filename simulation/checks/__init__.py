"""Whether what the demonstration leaves behind is what it should be."""
