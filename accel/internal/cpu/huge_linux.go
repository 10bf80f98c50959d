package cpu

import "syscall"

// hugePages asks the system to keep a piece of memory in huge pages where it can:
// a convolution's transforms write to 36 places at once, more than a processor
// remembers the addresses of small pages for. It is advice, so that an error, from
// a system that has none, changes nothing.
func hugePages(b []byte) {
	const adviceHuge = 14 // MADV_HUGEPAGE, of the system's include/uapi/asm-generic/mman-common.h
	_ = syscall.Madvise(b, adviceHuge)
}
