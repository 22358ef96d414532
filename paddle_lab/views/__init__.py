"""What a person looks at: pictures, pages and text; the widgets are in a room of their own."""
