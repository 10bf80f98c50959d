// Package install writes, removes and checks the kernelspec, with which Jupyter finds the
// kernel.
//
// A kernelspec is a folder <data>/kernels/<name> with kernel.json and logos. Jupyter
// looks for it in the user's data directory, then in the running environment, then in
// system directories; [SearchPath] returns the same list. [Write] never leaves an
// incomplete folder: it fills a temporary one and renames it.
//
// The rules are those of jupyter_core and of jupyter_client's "Making kernels for
// Jupyter".
package install
