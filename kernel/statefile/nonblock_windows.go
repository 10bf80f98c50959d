package statefile

// Nonblock is 0: a file cannot be replaced by a pipe on Windows.
const Nonblock = 0
