"""The views: pictures, pages and text; the widgets are in a subpackage of their own."""
