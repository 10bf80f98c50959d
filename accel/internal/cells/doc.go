// Package cells tests accel in notebook cells: which errors a user sees, and that the
// session continues after them.
package cells
