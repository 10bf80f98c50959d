// Package embedded sets the variables of //go:embed lines in packages that are interpreted from
// source. [Find] finds the files by the rules of package embed, and [Files.Set] stores them in a
// variable.
package embedded
