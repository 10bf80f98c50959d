package main

import (
	"fmt"
	"time"
	"unicode"
)

const base = 1 << 62

type Level int

func (l Level) String() string { return [...]string{"low", "mid", "high"}[l] }

type Pair struct{ A, B uint16 }

type entry struct {
	Name string
	at   int
	_    int8
}

type table struct {
	first  [40]uint8
	second []Pair
	more   map[string]int
}

type node struct {
	Name string
	next *node
	list []*node
}

var (
	bytes    = [...]uint8{0, 7, 28, 63, 112, 175, 1, 92, 197, 65, 198, 94, 4, 179, 117, 69, 35, 15, 9, 17, 39, 75, 125, 189, 16, 108, 214, 83, 217, 114, 25, 201, 140, 93, 60, 41, 36, 45, 68, 105}
	signed   = []int16{0, -3, -6, -9, -12, -15, -18, -21, -24, -27, -30, -33, -36, -39, -42, -45, -48, -51, -54, -57, -60, -63, -66, -69, -72, -75, -78, -81, -84, -87, -90, -93, -96, -99, -102, -105, -108, -111, -114, -117}
	words    = []string{"s0", "s1", "s2", "s3", "s4", "s5", "s6", "s7", "s8", "s9", "s10", "s11", "s12", "s13", "s14", "s15", "s16", "s17", "s18", "s19", "s20", "s21", "s22", "s23", "s24", "s25", "s26", "s27", "s28", "s29", "s30", "s31", "s32", "s33", "s34", "s35", "s36", "s37", "s38", "s39"}
	floats   = []float32{0.5, 1.5, 2.5, 3.5, 4.5, 5.5, 6.5, 7.5, 8.5, 9.5, 10.5, 11.5, 12.5, 13.5, 14.5, 15.5, 16.5, 17.5, 18.5, 19.5, 20.5, 21.5, 22.5, 23.5, 24.5, 25.5, 26.5, 27.5, 28.5, 29.5, 30.5, 31.5, 32.5, 33.5, 34.5, 35.5, 36.5, 37.5, 38.5, 39.5}
	pairs    = []Pair{{0, 0}, {1, 2}, {2, 4}, {3, 6}, {4, 8}, {5, 10}, {6, 12}, {7, 14}, {8, 16}, {9, 18}, {10, 20}, {11, 22}, {12, 24}, {13, 26}, {14, 28}, {15, 30}, {16, 32}, {17, 34}, {18, 36}, {19, 38}, {20, 40}, {21, 42}, {22, 44}, {23, 46}, {24, 48}, {25, 50}, {26, 52}, {27, 54}, {28, 56}, {29, 58}, {30, 60}, {31, 62}, {32, 64}, {33, 66}, {34, 68}, {35, 70}, {36, 72}, {37, 74}, {38, 76}, {39, 78}}
	entries  = [...]entry{{Name: "n0", at: 0}, {Name: "n1", at: 1}, {Name: "n2", at: 2}, {Name: "n3", at: 3}, {Name: "n4", at: 4}, {Name: "n5", at: 5}, {Name: "n6", at: 6}, {Name: "n7", at: 7}, {Name: "n8", at: 8}, {Name: "n9", at: 9}, {Name: "n10", at: 10}, {Name: "n11", at: 11}, {Name: "n12", at: 12}, {Name: "n13", at: 13}, {Name: "n14", at: 14}, {Name: "n15", at: 15}, {Name: "n16", at: 16}, {Name: "n17", at: 17}, {Name: "n18", at: 18}, {Name: "n19", at: 19}, {Name: "n20", at: 20}, {Name: "n21", at: 21}, {Name: "n22", at: 22}, {Name: "n23", at: 23}, {Name: "n24", at: 24}, {Name: "n25", at: 25}, {Name: "n26", at: 26}, {Name: "n27", at: 27}, {Name: "n28", at: 28}, {Name: "n29", at: 29}, {Name: "n30", at: 30}, {Name: "n31", at: 31}, {Name: "n32", at: 32}, {Name: "n33", at: 33}, {Name: "n34", at: 34}, {Name: "n35", at: 35}, {Name: "n36", at: 36}, {Name: "n37", at: 37}, {Name: "n38", at: 38}, {Name: "n39", at: 39}}
	pointers = []*entry{{Name: "p0"}, {Name: "p1"}, {Name: "p2"}, {Name: "p3"}, {Name: "p4"}, {Name: "p5"}, {Name: "p6"}, {Name: "p7"}, {Name: "p8"}, {Name: "p9"}, {Name: "p10"}, {Name: "p11"}, {Name: "p12"}, {Name: "p13"}, {Name: "p14"}, {Name: "p15"}, {Name: "p16"}, {Name: "p17"}, {Name: "p18"}, {Name: "p19"}, {Name: "p20"}, {Name: "p21"}, {Name: "p22"}, {Name: "p23"}, {Name: "p24"}, {Name: "p25"}, {Name: "p26"}, {Name: "p27"}, {Name: "p28"}, {Name: "p29"}, {Name: "p30"}, {Name: "p31"}, {Name: "p32"}, {Name: "p33"}, {Name: "p34"}, {Name: "p35"}, {Name: "p36"}, {Name: "p37"}, {Name: "p38"}, {Name: "p39"}}
	index    = map[string]int{"k0": 0, "k1": 1, "k2": 2, "k3": 3, "k4": 4, "k5": 5, "k6": 6, "k7": 7, "k8": 8, "k9": 9, "k10": 10, "k11": 11, "k12": 12, "k13": 13, "k14": 14, "k15": 15, "k16": 16, "k17": 17, "k18": 18, "k19": 19, "k20": 20, "k21": 21, "k22": 22, "k23": 23, "k24": 24, "k25": 25, "k26": 26, "k27": 27, "k28": 28, "k29": 29, "k30": 30, "k31": 31, "k32": 32, "k33": 33, "k34": 34, "k35": 35, "k36": 36, "k37": 37, "k38": 38, "k39": 39}
	lists    = map[Level][]int{0: {0, 1}, 1: {1, 2}, 2: {2, 3}, 3: {3, 4}, 4: {4, 5}, 5: {5, 6}, 6: {6, 7}, 7: {7, 8}, 8: {8, 9}, 9: {9, 10}, 10: {10, 11}, 11: {11, 12}, 12: {12, 13}, 13: {13, 14}, 14: {14, 15}, 15: {15, 16}, 16: {16, 17}, 17: {17, 18}, 18: {18, 19}, 19: {19, 20}, 20: {20, 21}, 21: {21, 22}, 22: {22, 23}, 23: {23, 24}, 24: {24, 25}, 25: {25, 26}, 26: {26, 27}, 27: {27, 28}, 28: {28, 29}, 29: {29, 30}, 30: {30, 31}, 31: {31, 32}, 32: {32, 33}, 33: {33, 34}, 34: {34, 35}, 35: {35, 36}, 36: {36, 37}, 37: {37, 38}, 38: {38, 39}, 39: {39, 40}}
	nested   = [][]int{{0, 0, 3}, {1, 2, 3}, {2, 4, 3}, {3, 6, 3}, {4, 8, 3}, {5, 10, 3}, {6, 12, 3}, {7, 14, 3}, {8, 16, 3}, {9, 18, 3}, {10, 20, 3}, {11, 22, 3}, {12, 24, 3}, {13, 26, 3}, {14, 28, 3}, {15, 30, 3}, {16, 32, 3}, {17, 34, 3}, {18, 36, 3}, {19, 38, 3}}
	sparse   = [...]int{0: 0, 3: 1, 6: 2, 9: 3, 12: 4, 15: 5, 18: 6, 21: 7, 24: 8, 27: 9, 30: 10, 33: 11, 36: 12, 39: 13, 42: 14, 45: 15, 48: 16, 51: 17, 54: 18, 57: 19, 60: 20, 63: 21, 66: 22, 69: 23, 72: 24, 75: 25, 78: 26, 81: 27, 84: 28, 87: 29, 90: 30, 93: 31, 96: 32, 99: 33, 102: 34, 105: 35, 108: 36, 111: 37, 114: 38, 117: 39}
	letters  = []rune{'a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j', 'k', 'l', 'm', 'n', 'o', 'p', 'q', 'r', 's', 't', 'u', 'v', 'w', 'x', 'y', 'z', 'a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j', 'k', 'l', 'm', 'n'}
	flags    = []bool{false, true, true, false, true, true, false, true, true, false, true, true, false, true, true, false, true, true, false, true, true, false, true, true, false, true, true, false, true, true, false, true, true, false, true, true, false, true, true, false}
	large    = []uint64{base + 0, base + 1, base + 2, base + 3, base + 4, base + 5, base + 6, base + 7, base + 8, base + 9, base + 10, base + 11, base + 12, base + 13, base + 14, base + 15, base + 16, base + 17, base + 18, base + 19, base + 20, base + 21, base + 22, base + 23, base + 24, base + 25, base + 26, base + 27, base + 28, base + 29, base + 30, base + 31, base + 32, base + 33, base + 34, base + 35, base + 36, base + 37, base + 38, base + 39}
	anything = []any{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39}
	complexs = []complex128{0i, 1i, 2i, 3i, 4i, 5i, 6i, 7i, 8i, 9i, 10i, 11i, 12i, 13i, 14i, 15i, 16i, 17i, 18i, 19i, 20i, 21i, 22i, 23i, 24i, 25i, 26i, 27i, 28i, 29i, 30i, 31i, 32i, 33i, 34i, 35i, 36i, 37i, 38i, 39i}
	waits    = []time.Duration{0 * time.Second, 1 * time.Second, 2 * time.Second, 3 * time.Second, 4 * time.Second, 5 * time.Second, 6 * time.Second, 7 * time.Second, 8 * time.Second, 9 * time.Second, 10 * time.Second, 11 * time.Second, 12 * time.Second, 13 * time.Second, 14 * time.Second, 15 * time.Second, 16 * time.Second, 17 * time.Second, 18 * time.Second, 19 * time.Second, 20 * time.Second, 21 * time.Second, 22 * time.Second, 23 * time.Second, 24 * time.Second, 25 * time.Second, 26 * time.Second, 27 * time.Second, 28 * time.Second, 29 * time.Second, 30 * time.Second, 31 * time.Second, 32 * time.Second, 33 * time.Second, 34 * time.Second, 35 * time.Second, 36 * time.Second, 37 * time.Second, 38 * time.Second, 39 * time.Second}
	ranges   = &unicode.RangeTable{R16: []unicode.Range16{{Lo: 0, Hi: 5, Stride: 1}, {Lo: 10, Hi: 15, Stride: 1}, {Lo: 20, Hi: 25, Stride: 1}, {Lo: 30, Hi: 35, Stride: 1}, {Lo: 40, Hi: 45, Stride: 1}, {Lo: 50, Hi: 55, Stride: 1}, {Lo: 60, Hi: 65, Stride: 1}, {Lo: 70, Hi: 75, Stride: 1}, {Lo: 80, Hi: 85, Stride: 1}, {Lo: 90, Hi: 95, Stride: 1}, {Lo: 100, Hi: 105, Stride: 1}, {Lo: 110, Hi: 115, Stride: 1}, {Lo: 120, Hi: 125, Stride: 1}, {Lo: 130, Hi: 135, Stride: 1}, {Lo: 140, Hi: 145, Stride: 1}, {Lo: 150, Hi: 155, Stride: 1}, {Lo: 160, Hi: 165, Stride: 1}, {Lo: 170, Hi: 175, Stride: 1}, {Lo: 180, Hi: 185, Stride: 1}, {Lo: 190, Hi: 195, Stride: 1}, {Lo: 200, Hi: 205, Stride: 1}, {Lo: 210, Hi: 215, Stride: 1}, {Lo: 220, Hi: 225, Stride: 1}, {Lo: 230, Hi: 235, Stride: 1}, {Lo: 240, Hi: 245, Stride: 1}, {Lo: 250, Hi: 255, Stride: 1}, {Lo: 260, Hi: 265, Stride: 1}, {Lo: 270, Hi: 275, Stride: 1}, {Lo: 280, Hi: 285, Stride: 1}, {Lo: 290, Hi: 295, Stride: 1}, {Lo: 300, Hi: 305, Stride: 1}, {Lo: 310, Hi: 315, Stride: 1}, {Lo: 320, Hi: 325, Stride: 1}, {Lo: 330, Hi: 335, Stride: 1}, {Lo: 340, Hi: 345, Stride: 1}, {Lo: 350, Hi: 355, Stride: 1}, {Lo: 360, Hi: 365, Stride: 1}, {Lo: 370, Hi: 375, Stride: 1}, {Lo: 380, Hi: 385, Stride: 1}, {Lo: 390, Hi: 395, Stride: 1}}}
	levels   = []Level{Level(0), Level(1), Level(2), Level(0), Level(1), Level(2), Level(0), Level(1), Level(2), Level(0), Level(1), Level(2), Level(0), Level(1), Level(2), Level(0), Level(1), Level(2), Level(0), Level(1), Level(2), Level(0), Level(1), Level(2), Level(0), Level(1), Level(2), Level(0), Level(1), Level(2), Level(0), Level(1), Level(2), Level(0), Level(1), Level(2), Level(0), Level(1), Level(2), Level(0)}
	whole    = &table{first: [40]uint8{0, 7, 28, 63, 112, 175, 1, 92, 197, 65, 198, 94, 4, 179, 117, 69, 35, 15, 9, 17, 39, 75, 125, 189, 16, 108, 214, 83, 217, 114, 25, 201, 140, 93, 60, 41, 36, 45, 68, 105}, second: []Pair{{0, 0}, {1, 2}, {2, 4}, {3, 6}, {4, 8}, {5, 10}, {6, 12}, {7, 14}, {8, 16}, {9, 18}, {10, 20}, {11, 22}, {12, 24}, {13, 26}, {14, 28}, {15, 30}, {16, 32}, {17, 34}, {18, 36}, {19, 38}, {20, 40}, {21, 42}, {22, 44}, {23, 46}, {24, 48}, {25, 50}, {26, 52}, {27, 54}, {28, 56}, {29, 58}, {30, 60}, {31, 62}, {32, 64}, {33, 66}, {34, 68}, {35, 70}, {36, 72}, {37, 74}, {38, 76}, {39, 78}}, more: map[string]int{"k0": 0, "k1": 1, "k2": 2, "k3": 3, "k4": 4, "k5": 5, "k6": 6, "k7": 7, "k8": 8, "k9": 9, "k10": 10, "k11": 11, "k12": 12, "k13": 13, "k14": 14, "k15": 15, "k16": 16, "k17": 17, "k18": 18, "k19": 19, "k20": 20, "k21": 21, "k22": 22, "k23": 23, "k24": 24, "k25": 25, "k26": 26, "k27": 27, "k28": 28, "k29": 29, "k30": 30, "k31": 31, "k32": 32, "k33": 33, "k34": 34, "k35": 35, "k36": 36, "k37": 37, "k38": 38, "k39": 39}}
	nodes    = []node{{Name: "p0"}, {Name: "p1"}, {Name: "p2"}, {Name: "p3"}, {Name: "p4"}, {Name: "p5"}, {Name: "p6"}, {Name: "p7"}, {Name: "p8"}, {Name: "p9"}, {Name: "p10"}, {Name: "p11"}, {Name: "p12"}, {Name: "p13"}, {Name: "p14"}, {Name: "p15"}, {Name: "p16"}, {Name: "p17"}, {Name: "p18"}, {Name: "p19"}, {Name: "p20"}, {Name: "p21"}, {Name: "p22"}, {Name: "p23"}, {Name: "p24"}, {Name: "p25"}, {Name: "p26"}, {Name: "p27"}, {Name: "p28"}, {Name: "p29"}, {Name: "p30"}, {Name: "p31"}, {Name: "p32"}, {Name: "p33"}, {Name: "p34"}, {Name: "p35"}, {Name: "p36"}, {Name: "p37"}, {Name: "p38"}, {Name: "p39"}}
)

// fresh returns new memory in each call.
func fresh() ([]int, map[string]int, *table) {
	defer func() { recover() }() // no machine runs it
	return []int{0, 7, 28, 63, 112, 175, 1, 92, 197, 65, 198, 94, 4, 179, 117, 69, 35, 15, 9, 17, 39, 75, 125, 189, 16, 108, 214, 83, 217, 114, 25, 201, 140, 93, 60, 41, 36, 45, 68, 105}, map[string]int{"k0": 0, "k1": 1, "k2": 2, "k3": 3, "k4": 4, "k5": 5, "k6": 6, "k7": 7, "k8": 8, "k9": 9, "k10": 10, "k11": 11, "k12": 12, "k13": 13, "k14": 14, "k15": 15, "k16": 16, "k17": 17, "k18": 18, "k19": 19, "k20": 20, "k21": 21, "k22": 22, "k23": 23, "k24": 24, "k25": 25, "k26": 26, "k27": 27, "k28": 28, "k29": 29, "k30": 30, "k31": 31, "k32": 32, "k33": 33, "k34": 34, "k35": 35, "k36": 36, "k37": 37, "k38": 38, "k39": 39}, &table{first: [40]uint8{0, 7, 28, 63, 112, 175, 1, 92, 197, 65, 198, 94, 4, 179, 117, 69, 35, 15, 9, 17, 39, 75, 125, 189, 16, 108, 214, 83, 217, 114, 25, 201, 140, 93, 60, 41, 36, 45, 68, 105}, second: []Pair{{0, 0}, {1, 2}, {2, 4}, {3, 6}, {4, 8}, {5, 10}, {6, 12}, {7, 14}, {8, 16}, {9, 18}, {10, 20}, {11, 22}, {12, 24}, {13, 26}, {14, 28}, {15, 30}, {16, 32}, {17, 34}, {18, 36}, {19, 38}, {20, 40}, {21, 42}, {22, 44}, {23, 46}, {24, 48}, {25, 50}, {26, 52}, {27, 54}, {28, 56}, {29, 58}, {30, 60}, {31, 62}, {32, 64}, {33, 66}, {34, 68}, {35, 70}, {36, 72}, {37, 74}, {38, 76}, {39, 78}}}
}

func generic[T any](x T) []T {
	list := []T{}
	return append(list, x)
}

func width[T ~int | ~int8](x T) (sum T) {
	for _, y := range []T{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39} {
		sum += y + x
	}
	return sum
}

func main() {
	fmt.Println(bytes, signed, words, floats)
	fmt.Println(pairs, entries, len(pointers), *pointers[7], pointers[7] != pointers[8])
	fmt.Println(index, lists, nested, sparse, len(sparse))
	fmt.Println(string(letters), flags, large, anything, complexs)
	fmt.Println(waits, unicode.Is(ranges, 13), unicode.Is(ranges, 17), levels)
	fmt.Println(*whole, len(nodes), nodes[3])
	fmt.Printf("%T %T %T %T %T %T %T\n", bytes, pairs, entries, lists, anything[3], levels[1], whole)
	copied := bytes
	copied[0] = 9
	pairs[0].A = 99
	fmt.Println(bytes[0], copied[0], pairs[0], whole.second[0])
	for range 2 {
		xs, m, t := fresh()
		fmt.Println(xs[0], m["k1"], t.first[1], t.second[1], len(m), cap(xs))
		xs[0], m["k1"], t.first[1], t.second[1].A = 77, 77, 77, 77
		delete(m, "k2")
	}
	fmt.Println(generic(2), width(1), width(int8(0)))
	for i, x := range [...]int{0, 7, 28, 63, 112, 175, 1, 92, 197, 65, 198, 94, 4, 179, 117, 69, 35, 15, 9, 17, 39, 75, 125, 189, 16, 108, 214, 83, 217, 114, 25, 201, 140, 93, 60, 41, 36, 45, 68, 105} {
		if i == 30 {
			fmt.Println(x, [...]int{0, 7, 28, 63, 112, 175, 1, 92, 197, 65, 198, 94, 4, 179, 117, 69, 35, 15, 9, 17, 39, 75, 125, 189, 16, 108, 214, 83, 217, 114, 25, 201, 140, 93, 60, 41, 36, 45, 68, 105}[i], len([...]int{0, 7, 28, 63, 112, 175, 1, 92, 197, 65, 198, 94, 4, 179, 117, 69, 35, 15, 9, 17, 39, 75, 125, 189, 16, 108, 214, 83, 217, 114, 25, 201, 140, 93, 60, 41, 36, 45, 68, 105}), []int{0, 7, 28, 63, 112, 175, 1, 92, 197, 65, 198, 94, 4, 179, 117, 69, 35, 15, 9, 17, 39, 75, 125, 189, 16, 108, 214, 83, 217, 114, 25, 201, 140, 93, 60, 41, 36, 45, 68, 105}[2:4])
		}
	}
	var show any = [40]uint8{0, 7, 28, 63, 112, 175, 1, 92, 197, 65, 198, 94, 4, 179, 117, 69, 35, 15, 9, 17, 39, 75, 125, 189, 16, 108, 214, 83, 217, 114, 25, 201, 140, 93, 60, 41, 36, 45, 68, 105}
	fmt.Println(show == any(bytes), show.([40]uint8)[3], []Level{Level(0), Level(1), Level(2), Level(0), Level(1), Level(2), Level(0), Level(1), Level(2), Level(0), Level(1), Level(2), Level(0), Level(1), Level(2), Level(0), Level(1), Level(2), Level(0), Level(1), Level(2), Level(0), Level(1), Level(2), Level(0), Level(1), Level(2), Level(0), Level(1), Level(2), Level(0), Level(1), Level(2), Level(0), Level(1), Level(2), Level(0), Level(1), Level(2), Level(0)}[2:5])
}
