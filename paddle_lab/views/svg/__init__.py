"""Static pictures of graphs: folding, the layout of rows and edges, and the SVG."""
