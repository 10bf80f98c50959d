package main

import "fmt"

// countCalls makes a program whose exported variables f0, f1, … are 1 when the functions with these numbers have been called.
// Imported functions have no number.
func countCalls(m *module) {
	globals := reader{m.section(sectionGlobal)}
	before := globals.length()
	content := append(unsigned(nil, uint64(before+len(m.bodies))), globals.rest...)
	exports := reader{m.section(sectionExport)}
	exported := append(unsigned(nil, uint64(exports.length()+len(m.bodies))), exports.rest...)
	for i, body := range m.bodies {
		content = append(content, typeI32, 1, opI32Const, 0, opEnd)
		exported = export(exported, fmt.Sprint("f", i), kindGlobal, before+i)
		r := reader{body}
		counted := append(make([]byte, 0, len(body)+8), r.locals()...)
		counted = unsigned(append(counted, opI32Const, 1, opGlobalSet), uint64(before+i))
		m.bodies[i] = append(counted, r.rest...)
	}
	m.set(sectionGlobal, content)
	m.set(sectionExport, exported)
}

// export appends an entry of the section of exports.
func export(to []byte, name string, kind byte, index int) []byte {
	return unsigned(append(vector(to, []byte(name)), kind), uint64(index))
}
