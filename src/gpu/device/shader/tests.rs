//! Tests of the WGSL text of the shaders: every shader is valid, its bindings and structures match
//! Rust, and each file imports exactly the items that it uses.

use std::collections::{BTreeMap, BTreeSet};

use bitflags::Flags;
use naga::valid::{Capabilities, ModuleInfo, ValidationFlags, Validator};
use naga::{AddressSpace, Handle, Module, ScalarKind, Type, TypeInner};

use super::bindings::{Access, Binding, BindingKind};
use super::constants::{Value, WORKGROUP, constants, prelude};
use super::import::{BadImport, Directive, PARTS, declared, directives, resolve};
use super::kernels::{Kernel, all};
use super::layout::LAYOUTS;
use crate::exact::GRAZING;
use crate::gpu::{SimulationStatus, Status, WGSL};

fn files() -> BTreeMap<&'static str, &'static str> {
    all().map(|kernel| (kernel.file, kernel.text)).collect()
}

fn wgsl(kernel: &Kernel) -> String {
    kernel.wgsl().unwrap_or_else(|error| panic!("{error}"))
}

fn bindings(kernel: &Kernel) -> Vec<Binding> {
    kernel.bindings().unwrap_or_else(|error| panic!("{error}"))
}

fn parse(name: &str, text: &str) -> (Module, ModuleInfo) {
    let module = naga::front::wgsl::parse_str(text)
        .unwrap_or_else(|error| panic!("{name}: {}", error.emit_to_string(text)));
    let info = Validator::new(ValidationFlags::all(), Capabilities::empty())
        .validate(&module)
        .unwrap_or_else(|error| panic!("{name}: {error:?}"));
    (module, info)
}

fn module(kernel: &Kernel) -> (Module, ModuleInfo) {
    parse(kernel.file, &wgsl(kernel))
}

#[test]
fn every_shader_is_valid_with_no_capabilities() {
    all().for_each(|kernel| drop(module(kernel)));
}

#[test]
fn every_entry_point_is_a_kernel() {
    for (file, text) in files() {
        let (module, _) = parse(
            file,
            &wgsl(&Kernel {
                name: file,
                file,
                text,
                entry: "",
                constants: &[],
            }),
        );
        let there: BTreeSet<&str> = module
            .entry_points
            .iter()
            .map(|entry| entry.name.as_str())
            .collect();
        let kernels = all().filter(|kernel| kernel.file == file);
        let used: BTreeSet<&str> = kernels.map(|kernel| kernel.entry).collect();
        assert_eq!(there, used, "{file}");
    }
}

#[test]
fn every_shader_becomes_spirv_msl_and_hlsl() {
    for kernel in all() {
        let (module, info) = module(kernel);
        let name = kernel.file;
        let constants = naga::back::PipelineConstants::default();
        let (module, info) =
            naga::back::pipeline_constants::process_overrides(&module, &info, None, &constants)
                .unwrap_or_else(|error| panic!("{name}: {error}"));
        naga::back::spv::write_vec(&module, &info, &naga::back::spv::Options::default(), None)
            .unwrap_or_else(|error| panic!("{name} as SPIR-V: {error}"));
        let options = naga::back::msl::Options {
            fake_missing_bindings: true,
            ..Default::default()
        };
        naga::back::msl::write_string(&module, &info, &options, &Default::default())
            .unwrap_or_else(|error| panic!("{name} as MSL: {error}"));
        let options = naga::back::hlsl::Options {
            fake_missing_bindings: true,
            ..Default::default()
        };
        let mut text = String::new();
        naga::back::hlsl::Writer::new(&mut text, &options, &Default::default())
            .write(&module, &info, None)
            .unwrap_or_else(|error| panic!("{name} as HLSL: {error}"));
    }
}

/// Compilers refuse a number that is greater than the greatest float32, even if it rounds to it.
#[test]
fn every_constant_is_written_exactly() {
    let text = prelude();
    let mut written = 0;
    for (line, (name, value)) in text.lines().zip(constants()) {
        let (declared, literal) = line.split_once(" = ").unwrap_or_default();
        written += 1;
        match value {
            Value::Word(word) => {
                assert_eq!(declared, format!("const {name}: u32"));
                assert_eq!(literal, format!("{word}u;"));
            }
            Value::Number(number) => {
                assert_eq!(declared, format!("const {name}: f32"));
                let digits = literal.strip_suffix("f;").unwrap_or_default();
                assert_eq!(digits.parse(), Ok(f64::from(number)), "{line}");
            }
        }
    }
    assert_eq!(written, text.lines().count());
    assert_eq!(written, constants().len());
}

fn name_of(module: &Module, handle: Handle<Type>) -> String {
    let kind = &module.types[handle];
    let scalar = |scalar: naga::Scalar| match scalar.kind {
        ScalarKind::Uint => "u32",
        ScalarKind::Float => "f32",
        other => panic!("unexpected scalar type {other:?} in a buffer"),
    };
    match kind.inner {
        TypeInner::Scalar(own) | TypeInner::Atomic(own) => scalar(own).to_owned(),
        TypeInner::Vector { size, scalar: own } => format!("vec{}<{}>", size as u32, scalar(own)),
        TypeInner::Struct { .. } => kind.name.clone().unwrap_or_default(),
        ref other => panic!("unexpected type {other:?} in a buffer"),
    }
}

#[derive(Debug, PartialEq)]
struct Declared {
    index: u32,
    name: String,
    space: AddressSpace,
    element: String,
    is_array: bool,
}

fn declared_bindings(module: &Module) -> Vec<Declared> {
    let mut all: Vec<Declared> = module
        .global_variables
        .iter()
        .filter_map(|(_, variable)| {
            let index = variable.binding.as_ref()?.binding;
            let (element, is_array) = match module.types[variable.ty].inner {
                TypeInner::Array { base, .. } => (base, true),
                _ => (variable.ty, false),
            };
            Some(Declared {
                index,
                name: variable.name.clone()?,
                space: variable.space,
                element: name_of(module, element),
                is_array,
            })
        })
        .collect();
    all.sort_by_key(|declared| declared.index);
    all
}

/// Compares the bindings that carom reads from a shader's text with those that the WGSL parser naga
/// finds. Also tests that no shader has more than eight storage buffers, which is the number that
/// every device allows.
#[test]
fn bindings_are_as_declared_and_at_most_eight_storage_buffers() {
    for kernel in all() {
        let (module, _) = module(kernel);
        let load = naga::StorageAccess::LOAD;
        let read: Vec<Declared> = (0..)
            .zip(bindings(kernel))
            .map(|(index, binding)| Declared {
                index,
                name: binding.name.to_owned(),
                space: match binding.access {
                    Access::Uniform => AddressSpace::Uniform,
                    Access::Read => AddressSpace::Storage { access: load },
                    Access::Write => AddressSpace::Storage {
                        access: load | naga::StorageAccess::STORE,
                    },
                },
                element: binding.kind.element.to_owned(),
                is_array: binding.kind.is_array,
            })
            .collect();
        assert_eq!(read, declared_bindings(&module), "{}", kernel.file);
        let storage = bindings(kernel)
            .iter()
            .filter(|binding| binding.access != Access::Uniform)
            .count();
        assert!(
            storage <= 8,
            "{} binds {storage} storage buffers",
            kernel.file
        );
    }
}

/// carom binds buffers to shader variables by name, so each name must have one meaning.
#[test]
fn a_name_has_one_type_in_all_kernels() {
    let mut kinds: BTreeMap<&str, BindingKind> = BTreeMap::new();
    for kernel in all() {
        for Binding { name, kind, .. } in bindings(kernel) {
            let known = *kinds.entry(name).or_insert(kind);
            assert_eq!(known, kind, "{name} in {}", kernel.file);
        }
    }
}

fn code(text: &str) -> String {
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    let bare = lines.map(|line| line.split("//").next().unwrap_or_default());
    bare.collect::<Vec<_>>().join("\n")
}

fn words(text: &str) -> (BTreeSet<String>, BTreeSet<String>) {
    let code = code(text);
    let (mut used, mut bound) = (BTreeSet::new(), BTreeSet::new());
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let mut rest = code.as_str();
    let mut before = String::new();
    while let Some(start) = rest.find(is_word) {
        let gap = rest[..start].trim().to_owned();
        let word: String = rest[start..].chars().take_while(|&c| is_word(c)).collect();
        rest = &rest[start + word.len()..];
        let is_declared = ["let", "var", "for"].contains(&before.as_str()) && gap.is_empty();
        let is_typed = rest.trim_start().starts_with(':');
        if is_declared || is_typed {
            bound.insert(word.clone());
        } else if !gap.ends_with('.') {
            used.insert(word.clone());
        }
        before = word;
    }
    (used, bound)
}

fn taken(name: &str, text: &'static str) -> (BTreeSet<&'static str>, BTreeSet<&'static str>) {
    let (mut imported, mut needed) = (BTreeSet::new(), BTreeSet::new());
    for directive in directives(text).unwrap_or_else(|error| panic!("{name}: {error}")) {
        let (set, names) = match directive {
            Directive::Import { items, .. } => (&mut imported, items),
            Directive::Needs(names) => (&mut needed, names),
        };
        for item in names {
            assert!(set.insert(item), "{name} lists `{item}` twice");
        }
    }
    (imported, needed)
}

/// The line `#needs` of a shared file must list exactly those variables that it uses without
/// declaring them.
#[test]
fn every_file_imports_exactly_the_items_that_it_uses() {
    let items: BTreeMap<&str, &str> = PARTS
        .iter()
        .flat_map(|&(part, text)| declared(text).map(move |item| (item, part)))
        .collect();
    let count: usize = PARTS.iter().map(|(_, text)| declared(text).count()).sum();
    assert_eq!(items.len(), count, "two parts declare the same name");
    let globals: BTreeSet<&str> = all()
        .flat_map(|kernel| bindings(kernel).into_iter().map(|binding| binding.name))
        .collect();
    let mut wrong = Vec::new();
    let parts = PARTS.iter().map(|&(name, text)| (name, text, true));
    let kernels = files().into_iter().map(|(name, text)| (name, text, false));
    for (name, text, is_part) in parts.chain(kernels) {
        let (imported, needed) = taken(name, text);
        let (used, bound) = words(text);
        let own: BTreeSet<&str> = declared(text).collect();
        let mut check = |says: &BTreeSet<&str>, should: &BTreeSet<&str>, what| {
            if says != should {
                wrong.push(format!("{name} {what} {says:?}, not {should:?}"));
            }
        };
        let foreign = |word: &&str| !own.contains(word);
        let expected: BTreeSet<&str> = used
            .iter()
            .map(String::as_str)
            .filter(foreign)
            .filter(|&word| items.contains_key(word))
            .filter(|&word| imported.contains(word) || !bound.contains(word))
            .collect();
        check(&imported, &expected, "imports");
        let hidden = imported.iter().filter(|&&item| bound.contains(item));
        check(&hidden.copied().collect(), &BTreeSet::new(), "hides");
        let expected: BTreeSet<&str> = used
            .iter()
            .map(String::as_str)
            .filter(foreign)
            .filter(|&word| is_part && globals.contains(word))
            .filter(|&word| needed.contains(word) || !bound.contains(word))
            .collect();
        check(&needed, &expected, "needs");
        for directive in directives(text).unwrap_or_default() {
            if let Directive::Import { part, items: names } = directive {
                let mut strays = names.iter().filter(|&item| items.get(item) != Some(&part));
                assert_eq!(strays.next(), None, "{name} from {part}");
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_part_is_imported_by_some_kernel() {
    for (part, _) in PARTS {
        let line = format!("#import {part}::");
        let parts = PARTS.iter().map(|&(_, text)| text);
        let mut texts = parts.chain(all().map(|kernel| kernel.text));
        assert!(
            texts.any(|text| text.contains(&line)),
            "no file imports the part {part}"
        );
    }
}

#[test]
fn every_file_that_a_shader_names_exists() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let parts = PARTS.iter().copied();
    for (name, text) in parts.chain(files()) {
        let quoted = text.split('`').skip(1).step_by(2);
        let paths: Vec<&str> = quoted.filter(|quoted| quoted.starts_with("src/")).collect();
        for path in paths {
            assert!(root.join(path).exists(), "{name} names {path}");
        }
    }
}

#[test]
fn bad_imports_are_errors() {
    const LOOP: &[(&str, &str)] = &[
        ("one", "#import two::{b}\nconst a = 1;\n"),
        ("two", "#import one::{a}\nconst b = 1;\n"),
        ("needy", "#needs x\nfn y() {}\n"),
    ];
    let resolve = |kernel| resolve(kernel, LOOP).map_err(|error| error.to_string());
    let wrong = [
        ("#import one", "neither"),
        ("#include one::{a}", "neither"),
        ("#import three::{a}", "no part `three`"),
        ("#import one::{b}", "`one` does not declare `b`"),
        ("#import one::{a}", "`one` imports itself"),
        ("#import needy::{y}", "not declare `x`"),
    ];
    for (kernel, problem) in wrong {
        let Err(told) = resolve(kernel) else {
            panic!("accepted despite its error: {kernel}");
        };
        assert!(told.contains(problem), "{kernel}: {told}");
    }
    let needy = "#import needy::{y}\nvar<private> x: u32;\n";
    assert_eq!(
        resolve(needy).as_deref(),
        Ok("fn y() {}\nvar<private> x: u32;\n")
    );
    let cycle = super::import::resolve("#import one::{a}", LOOP);
    assert_eq!(cycle, Err(BadImport::Cycle("one".to_owned())));
}

#[test]
fn every_constant_has_the_hosts_bits_and_is_used() {
    let (module, _) = parse("the constants", &super::constants::prelude());
    let mut used = BTreeSet::new();
    let texts = PARTS.iter().map(|&(_, text)| text);
    for text in texts.chain(all().map(|kernel| kernel.text)) {
        used.extend(words(text).0);
    }
    for (name, value) in constants() {
        let found = module
            .constants
            .iter()
            .find(|(_, constant)| constant.name.as_deref() == Some(name));
        let Some((_, constant)) = found else {
            panic!("{name} is not declared");
        };
        match (value, &module.global_expressions[constant.init]) {
            (Value::Word(host), naga::Expression::Literal(naga::Literal::U32(own))) => {
                assert_eq!(*own, host, "{name}");
            }
            (Value::Number(host), naga::Expression::Literal(naga::Literal::F32(own))) => {
                assert_eq!(own.to_bits(), host.to_bits(), "{name}");
            }
            (_, other) => panic!("{name} has the value {other:?}"),
        }
        assert!(used.contains(name), "no shader uses {name}");
    }
}

/// Users append the public text [`WGSL`] to their own shaders.
#[test]
fn the_wgsl_for_users_is_valid_on_its_own_and_has_the_hosts_constants() {
    let (module, _) = parse("WGSL", WGSL);
    let constant = |name: &str| {
        let found = module
            .constants
            .iter()
            .find(|(_, c)| c.name.as_deref() == Some(name));
        found.and_then(|(_, c)| match module.global_expressions[c.init] {
            naga::Expression::Literal(naga::Literal::U32(value)) => Some(value),
            _ => None,
        })
    };
    assert_eq!(constant("CAROM_GRAZING"), Some(GRAZING));
    assert_eq!(constant("CAROM_WORKGROUP"), Some(WORKGROUP));
    for (name, kind) in crate::gpu::collide::walls::KINDS {
        assert_eq!(constant(name), Some(kind), "{name}");
    }
    for flag in Status::FLAGS {
        let name = format!("CAROM_{}", flag.name());
        assert_eq!(constant(&name), Some(flag.value().bits()), "{name}");
    }
    for flag in SimulationStatus::FLAGS {
        let name = format!("CAROM_{}", flag.name());
        assert_eq!(constant(&name), Some(flag.value().bits()), "{name}");
    }
}

#[test]
fn errors_in_a_users_shader_have_the_line_numbers_of_that_shader() {
    let used = "
        diagnostic(off, derivative_uniformity);
        @group(0) @binding(0) var<storage, read> results: CaromResults;
        @group(0) @binding(1) var<storage, read_write> first: array<CaromCollision>;
        @compute @workgroup_size(CAROM_WORKGROUP)
        fn main(@builtin(workgroup_id) id: vec3<u32>) {
            let i = carom_index(results.columns, id, 0u);
            if carom_is_grazing(first[i]) && results.status == CAROM_TRUNCATED {
                first[i].a = carom_b(first[i]);
            }
        }";
    let wrong = "fn wrong() -> u32 { return nothing_of_this_name; }";
    for ending in [
        "",
        "\n",
        " // No line break.",
        "\n// A comment.",
        "/* A comment. */",
    ] {
        let right = format!("{used}{ending}");
        parse("a user's shader", &[&right, WGSL].concat());

        let bad = format!("{used}\n{wrong}{ending}");
        let line = 1 + used.lines().count() as u32;
        let text = [&bad, WGSL].concat();
        let error = naga::front::wgsl::parse_str(&text).err();
        let told = error.and_then(|error| error.location(&text));
        let told = told.map(|place| place.line_number);
        assert_eq!(told, Some(line), "{ending:?}");
    }
}

#[test]
fn workgroups_are_small_enough_for_every_device() {
    let limits = wgpu::Limits::default();
    for kernel in all() {
        let (module, info) = module(kernel);
        let mut layouter = naga::proc::Layouter::default();
        layouter
            .update(module.to_ctx())
            .unwrap_or_else(|error| panic!("{error}"));
        for (index, entry) in module.entry_points.iter().enumerate() {
            let [x, y, z] = entry.workgroup_size;
            assert!(
                x * y * z <= limits.max_compute_invocations_per_workgroup,
                "{}",
                kernel.file
            );
            let shared: u32 = module
                .global_variables
                .iter()
                .filter(|&(handle, variable)| {
                    variable.space == AddressSpace::WorkGroup
                        && !info.get_entry_point(index)[handle].is_empty()
                })
                .map(|(_, variable)| layouter[variable.ty].size)
                .sum();
            assert!(
                shared <= limits.max_compute_workgroup_storage_size,
                "{}: {shared} bytes",
                kernel.file
            );
        }
    }
}

fn wgsl_layout(modules: &[Module], name: &str) -> (usize, Vec<(String, usize)>) {
    for module in modules {
        let mut layouter = naga::proc::Layouter::default();
        layouter
            .update(module.to_ctx())
            .unwrap_or_else(|error| panic!("{error}"));
        for (handle, kind) in module.types.iter() {
            if let (Some(own), TypeInner::Struct { members, .. }) = (&kind.name, &kind.inner)
                && own == name
            {
                let members = members.iter().map(|member| {
                    let name = member.name.clone().unwrap_or_default();
                    (name, member.offset as usize)
                });
                return (layouter[handle].size as usize, members.collect());
            }
        }
    }
    panic!("no shader has a struct {name}");
}

#[test]
fn structs_are_laid_out_alike_in_wgsl_and_rust() {
    let modules: Vec<Module> = all().map(|kernel| module(kernel).0).collect();
    // `Sphere` is a public type, so it is not in `LAYOUTS`, the list of internal structures.
    let sphere = [
        ("center", std::mem::offset_of!(crate::Sphere, center)),
        ("radius", std::mem::offset_of!(crate::Sphere, radius)),
        ("velocity", std::mem::offset_of!(crate::Sphere, velocity)),
        ("groups", std::mem::offset_of!(crate::Sphere, groups)),
    ];
    let structs = LAYOUTS
        .iter()
        .map(|layout| (layout.wgsl, layout.size, layout.fields))
        .chain([("Sphere", size_of::<crate::Sphere>(), &sphere[..])]);
    for (name, size, fields) in structs {
        let (own_size, mut members) = wgsl_layout(&modules, name);
        let padding = |name: &str| name.starts_with("unused");
        members.retain(|(name, _)| !padding(name));
        let fields = fields.iter().filter(|(name, _)| !padding(name));
        let host: Vec<(String, usize)> = fields.map(|&(name, at)| (name.to_owned(), at)).collect();
        assert_eq!(members, host, "{name}");
        assert_eq!(own_size, size, "{name}");
    }
}

#[test]
fn every_element_is_a_type_that_the_host_has() {
    let words = ["u32", "vec2<u32>", "vec4<u32>", "vec4<f32>", "Sphere"];
    for kernel in all() {
        for Binding { kind, name, .. } in bindings(kernel) {
            let known = LAYOUTS.iter().map(|layout| layout.wgsl);
            assert!(
                known.chain(words).any(|wgsl| wgsl == kind.element),
                "{name} in {}",
                kernel.file
            );
        }
    }
}
