// Package cells has the tests of accel that run in notebook cells: what a user
// sees there of errors, and that the session lives on.
package cells
