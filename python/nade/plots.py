"""Pictures with matplotlib: each function draws on the axes that it is given, or on new ones, and returns them."""
from ._plots import plot_density, plot_images, plot_orderings, plot_pair, plot_real_and_synthetic, plot_training

__all__ = ["plot_density", "plot_images", "plot_orderings", "plot_pair", "plot_real_and_synthetic",
           "plot_training"]
