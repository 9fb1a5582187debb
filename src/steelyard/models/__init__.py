"""Models: endpoints, embedded servers, weights, scripted replies."""
