"""Results as pictures and tables: first the data, then the drawing."""
