//go:build !purego

package cpu

func nativeWinograds() []*winogradKernel {
	return []*winogradKernel{{
		lanes: 4, interleave: interleaveNEON, deinterleave: deinterleaveNEON,
		input: tileInputNEON, slope: tileSlopeNEON, output: tileOutputNEON, weight: tileWeightNEON, gradient: tileGradientNEON,
		tiles: blockTilesNEON,
		sums:  []sumTile{sumTile2x1NEON, sumTile2x2NEON},
	}}
}
