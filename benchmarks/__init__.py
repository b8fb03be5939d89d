"""wellorder beside its peers: workloads as data, a small file for each peer, a runner, and pages made of records."""
