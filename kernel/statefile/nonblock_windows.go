package statefile

// Nonblock is nothing: a path of a file names no pipe here.
const Nonblock = 0
