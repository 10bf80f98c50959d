package ptxsim

// The nodes of a module's syntax tree.

type operandKind uint8

const (
	operandName    operandKind = iota // register, special register, label, variable or function
	operandInteger                    // bits holds the value
	operandFloat                      // bits holds a float32 (0f) or float64 (0d, decimal)
	operandMemory                     // [items...+offset]
	operandVector                     // {items...}
	operandList                       // (items...)
	operandPair                       // items[0]|items[1]
	operandNot                        // !items[0]
	operandSink                       // _
)

type operand struct {
	kind   operandKind
	name   string
	bits   uint64
	width  int   // bits of a float constant: 32 or 64; 0 for a decimal one
	offset int64 // of a name or a memory operand
	items  []operand
}

// statement is an instruction, a label, a declaration or a scope.
type statement struct {
	line     int
	label    string
	guard    string // predicate register, or empty
	guardNot bool
	opcode   string
	mods     []string
	args     []operand
	declares []variable  // of a declaration
	scope    []statement // of a block in braces
	targets  []string    // of .branchtargets, whose name is label
}

type variable struct {
	line    int
	space   string // reg, shared, global, const, local, param
	name    string
	typ     valueType
	vector  int // elements of .v2, .v4; 1 otherwise
	count   int // elements of an array in all; 1 for a scalar
	array   bool
	open    bool // array without a size: extern shared memory
	align   int  // bytes
	repeat  int  // of name<N>; 0 otherwise
	initial []operand
	extern  bool
}

func (v *variable) bytes() int { return v.typ.bytes() * v.vector * v.count }

// function is an .entry or a .func.
type function struct {
	name    string
	line    int
	entry   bool
	extern  bool
	results []variable
	params  []variable
	body    []statement
	// Launch bounds of an entry; zero if not given.
	maxThreads int
	reqThreads [3]int
}

type module struct {
	version   int // 10*major + minor
	target    string
	variables []variable
	functions map[string]*function
	order     []string       // names of functions as they come
	files     map[int]string // of .file
	locations []location     // of .loc, in the order of the lines
	lines     []string
}

func (m *module) failure(line int, format string, args ...any) *ParseError {
	l := lexer{lines: m.lines}
	e := l.failure(line, format, args...)
	e.Source = m.source(line)
	return e
}
