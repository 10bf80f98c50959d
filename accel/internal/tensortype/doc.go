// Package tensortype holds the types that the public package accel/tensor shares
// with the engine below it: element types and errors. accel/tensor exports them
// as aliases.
package tensortype
