// Package loader finds shared libraries by name as the dynamic loader of Linux does,
// without the directories in which other users could plant one.
//
// The loader takes an empty element of LD_LIBRARY_PATH, as
// LD_LIBRARY_PATH=$LD_LIBRARY_PATH:/opt/lib has it, to mean the working directory,
// which for a notebook is a folder that somebody may have downloaded. [Find] returns
// absolute paths only. [Check] reports directories from which the loader itself would
// load what a library depends on.
package loader
