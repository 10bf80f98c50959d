package cpu

import "syscall"

// hugePages asks the system to use huge pages for the memory from an address to another one: a convolution's
// transforms write to 36 addresses at once, and a tile of a product uses a page for each row of its operands,
// more than a CPU's TLB holds small pages for. It is only advice, so errors of systems without huge pages, and
// of pages that this process does not use, are ignored.
func hugePages(from, to uintptr) {
	const adviceHuge = 14 // MADV_HUGEPAGE, of the system's include/uapi/asm-generic/mman-common.h
	_, _, _ = syscall.Syscall(syscall.SYS_MADVISE, from, to-from, adviceHuge)
}
