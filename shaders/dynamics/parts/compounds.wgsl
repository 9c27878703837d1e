// Compound bodies: spheres of the same body do not collide with each other.

#needs compounds

fn is_one_body(a: u32, b: u32) -> bool {
    return b < arrayLength(&compounds) && compounds[a] == compounds[b];
}
