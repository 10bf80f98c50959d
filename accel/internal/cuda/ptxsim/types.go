package ptxsim

// valueType is a fundamental type of PTX.
type valueType struct {
	name  string
	class typeClass
	bits  int // total width, also of a packed pair
}

type typeClass uint8

const (
	untyped typeClass = iota // .b8 to .b128
	signed
	unsigned
	float       // .f16, .f32, .f64
	bfloat16    // .bf16
	float16Pair // .f16x2
	bfloat16Pair
	predicate
	tensorFloat // .tf32
	float8      // .e4m3, .e5m2 and pairs of them
	integerPair // .u16x2, .s16x2
)

var valueTypes = func() map[string]valueType {
	types := map[string]valueType{}
	for _, t := range []valueType{
		{"b8", untyped, 8}, {"b16", untyped, 16}, {"b32", untyped, 32}, {"b64", untyped, 64}, {"b128", untyped, 128},
		{"s8", signed, 8}, {"s16", signed, 16}, {"s32", signed, 32}, {"s64", signed, 64},
		{"u8", unsigned, 8}, {"u16", unsigned, 16}, {"u32", unsigned, 32}, {"u64", unsigned, 64},
		{"f16", float, 16}, {"f32", float, 32}, {"f64", float, 64}, {"bf16", bfloat16, 16},
		{"f16x2", float16Pair, 32}, {"bf16x2", bfloat16Pair, 32}, {"pred", predicate, 1}, {"tf32", tensorFloat, 32},
		{"e4m3x2", float8, 16}, {"e5m2x2", float8, 16}, {"e4m3", float8, 8}, {"e5m2", float8, 8},
		{"u16x2", integerPair, 32}, {"s16x2", integerPair, 32},
	} {
		types[t.name] = t
	}
	return types
}()

func (t valueType) bytes() int { return (t.bits + 7) / 8 }

func (t valueType) integer() bool { return t.class == signed || t.class == unsigned }

// mask returns a mask of the type's bits.
func (t valueType) mask() uint64 { return lowBits(t.bits) }

func lowBits(n int) uint64 {
	if n >= 64 {
		return ^uint64(0)
	}
	return 1<<n - 1
}

// extend sign-extends a value from a number of bits.
func extend(v uint64, bits int) int64 { return int64(v<<(64-bits)) >> (64 - bits) }
