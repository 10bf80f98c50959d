//go:build !purego

package cpu

// detectCaches asks the CPU, as described for leaf 4 in Intel's Software Developer's Manual, volume 2A, and for leaf 8000001D in AMD's
// Programmer's Manual, volume 3; both have the same format.
func detectCaches() Caches {
	var found Caches
	leaf := uint32(4)
	if most, b, c, d := cpuid(0, 0); b == 'A'|'u'<<8|'t'<<16|'h'<<24 && d == 'e'|'n'<<8|'t'<<16|'i'<<24 && c == 'c'|'A'<<8|'M'<<16|'D'<<24 {
		leaf = 0x8000001d
		if most, _, _, _ := cpuid(0x80000000, 0); most < leaf {
			return found
		}
	} else if most < leaf {
		return found
	}
	for i := range uint32(16) {
		a, b, c, _ := cpuid(leaf, i)
		const data, unified = 1, 3
		kind := a & 31
		if kind == 0 {
			break
		}
		if kind != data && kind != unified {
			continue
		}
		ways, partitions, line := int(b>>22)+1, int(b>>12&1023)+1, int(b&4095)+1
		found.set(int(a>>5&7), Cache{Size: ways * partitions * line * (int(c) + 1), Ways: ways})
	}
	return found
}
