"""The views: pictures, pages, text, and widgets."""
