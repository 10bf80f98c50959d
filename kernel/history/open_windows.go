package history

// nonblock is nothing: a path of a file names no pipe here.
const nonblock = 0
