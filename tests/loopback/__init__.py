"""Model services on a loopback socket that speak the real wire protocols, with faults on order."""
