package active

import (
	"encoding/binary"
	"hash/maphash"
	"math"
)

// duplicateGroups assigns the same group to examples with the same values.
func (p *Pool) duplicateGroups() []int {
	if p.groups != nil {
		return p.groups
	}
	seed := maphash.MakeSeed()
	first := make(map[uint64]int, len(p.labels))
	groups := make([]int, len(p.labels))
	var raw []byte
	for i := range groups {
		raw = raw[:0]
		for _, v := range p.set.Example(i) {
			raw = binary.LittleEndian.AppendUint32(raw, math.Float32bits(v+0)) // -0 becomes 0
		}
		key := maphash.Bytes(seed, raw)
		if _, ok := first[key]; !ok {
			first[key] = i
		}
		groups[i] = first[key]
	}
	p.groups = groups
	return groups
}

// candidates returns the unlabeled examples: first one of each group without a label, then the
// rest.
func (p *Pool) candidates() (fresh, repeated []int) {
	groups := p.duplicateGroups()
	taken := make(map[int]bool, len(p.labels))
	for _, i := range p.order {
		taken[groups[i]] = true
	}
	for i, label := range p.labels {
		switch {
		case label != none:
		case taken[groups[i]]:
			repeated = append(repeated, i)
		default:
			taken[groups[i]] = true
			fresh = append(fresh, i)
		}
	}
	return fresh, repeated
}
