// Package install writes, removes and checks the kernelspec, the folder by which
// Jupyter finds the kernel.
//
// A kernelspec is a folder <data>/kernels/<name> with kernel.json and the
// logos. Jupyter looks for it in the user's data directory first, then in the
// running environment, then in the system's directories; [SearchPath] gives the
// same list. [Write] never leaves a half-written folder behind: it fills a
// temporary one and renames it.
//
// The rules are those of jupyter_core and of jupyter_client's "Making kernels
// for Jupyter".
package install
