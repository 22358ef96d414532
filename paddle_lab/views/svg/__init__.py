"""Still pictures of graphs: what is folded, how rows and edges are laid out, and the SVG."""
