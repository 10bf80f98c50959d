// Package tensortype defines the element types and errors that the public package accel/tensor
// shares with the packages below it. accel/tensor exports them as aliases.
package tensortype
