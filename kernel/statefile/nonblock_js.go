package statefile

// Nonblock is 0: a browser has no pipes.
const Nonblock = 0
