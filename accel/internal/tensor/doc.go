// Package tensor holds the types that the public package accel/tensor shares
// with the engine below it: element types and errors. They are declared under
// this package name so that a message shows *tensor.ShapeError, the name that
// users know, and not that of an internal package.
package tensor
