def main():
    text = "the quick brown fox jumps over the lazy dog and the cat " * 16000
    counts = {}
    for word in text.split():
        counts[word] = counts.get(word, 0) + 1
    for w in sorted(counts, key=lambda w: (-counts[w], w))[:2]:
        print(w, counts[w])
main()
