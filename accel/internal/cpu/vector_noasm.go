//go:build ((!amd64 && !arm64) || purego) && !(js && quern_simd)

package cpu

// nativeVectors is empty: there is no assembly for this processor.
func nativeVectors() []*vectors { return nil }

// nativeTiles is empty: there is no assembly for this processor.
func nativeTiles() []gemmKernel { return nil }

// nativeShifts is empty: there is no assembly for this processor.
func nativeShifts() []shiftKernel { return nil }

// nativeWinograds is empty: there is no assembly for this processor.
func nativeWinograds() []*winogradKernel { return nil }

// nativeChannels is empty: there is no assembly for this processor.
func nativeChannels() []channelKernel { return nil }
