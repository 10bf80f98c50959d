//go:build !purego

package cpu

func nativeWinograds() []*winogradKernel {
	return []*winogradKernel{{
		lanes: 4, interleave: interleaveNEON, deinterleave: deinterleaveNEON,
		input: tileInputNEON, slope: tileSlopeNEON, output: tileOutputNEON, weight: tileWeightNEON, gradient: tileGradientNEON,
		tiles: [][]blockTile{
			{blockTile1x1NEON, blockTile1x2NEON},
			{blockTile2x1NEON, blockTile2x2NEON},
			{blockTile3x1NEON, blockTile3x2NEON},
			{blockTile4x1NEON, blockTile4x2NEON},
			{blockTile5x1NEON, blockTile5x2NEON},
			{blockTile6x1NEON, blockTile6x2NEON},
			{blockTile7x1NEON, blockTile7x2NEON},
			{blockTile8x1NEON, blockTile8x2NEON},
			{blockTile9x1NEON, blockTile9x2NEON},
			{blockTile10x1NEON, blockTile10x2NEON},
		},
		sums: []sumTile{sumTile2x1NEON, sumTile2x2NEON},
	}}
}
