// Marks the first of several equal pairs, and writes the marked pairs to the sorted
// list. Importing kernels declare `is_first(index)`, whether pair `index` differs from
// the one before, and `write_pair(to, index)`.

#import dispatch::{dispatch_over}
#needs first_flags, results, sorted_dispatch

fn flag_first(index: u32) {
    if index < arrayLength(&first_flags) {
        first_flags[index] = select(0u, 1u, is_first(index));
    }
}

// Runs after the prefix sum of the marks.
fn list_first(index: u32) {
    if index >= arrayLength(&first_flags) {
        return;
    }
    if is_first(index) {
        write_pair(first_flags[index], index);
    }
    if index == 0u {
        let count = first_flags[results.pairs];
        results.sorted = count;
        sorted_dispatch = dispatch_over(count);
        results.sorted_columns = sorted_dispatch.x;
    }
}
