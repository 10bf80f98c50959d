// Package loader finds shared libraries by name as the dynamic loader of Linux does, but
// not in directories in which other users could plant one.
//
// For the loader, an empty element of LD_LIBRARY_PATH, as in
// LD_LIBRARY_PATH=$LD_LIBRARY_PATH:/opt/lib, means the working directory, which for a
// notebook may be a downloaded folder. [Find] returns only absolute paths. [Check]
// reports directories from which the loader itself would load the dependencies of a
// library.
package loader
