package kernels

import "slices"

// Table returns all kernels.
func Table() []Entry {
	return slices.Concat(
		softmaxEntries, crossEntropyEntries, normEntries, batchNormEntries, poolEntries,
		copyEntries, castEntries, compareEntries, gatherEntries, randomEntries,
		gemmEntries, matmulEntries, convEntries, convTensorEntries, directEntries, attentionEntries, flashEntries, wgmmaEntries,
		round8Entries, matmul8Entries, wgmma8Entries,
		sumEntries, maxEntries, cumSumEntries, finiteEntries, scatterAddEntries,
	)
}
