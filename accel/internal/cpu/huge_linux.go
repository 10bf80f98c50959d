package cpu

import "syscall"

// hugePages asks the system to use huge pages for a range of memory: a convolution's
// transforms write to 36 addresses at once, more than a CPU's TLB holds small pages for. It
// is only advice, so errors of systems without huge pages are ignored.
func hugePages(b []byte) {
	const adviceHuge = 14 // MADV_HUGEPAGE, of the system's include/uapi/asm-generic/mman-common.h
	_ = syscall.Madvise(b, adviceHuge)
}
