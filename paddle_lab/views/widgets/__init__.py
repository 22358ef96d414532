"""Small widgets around the front end. Only these views import Jupyter's packages."""
