"""Static pictures of graphs: choosing the rows, laying them out, and writing the SVG."""
