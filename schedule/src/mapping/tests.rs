use super::*;
use crate::mapped::Placement;
use crate::testing::{KERNELS, kernel, scop};

fn mapped(s: &Scop) -> MappedScop {
    let deps = crate::dependences(s).unwrap();
    let tree = crate::schedule(s, &deps, &Default::default()).unwrap();
    map(s, &deps, &tree, &Default::default()).unwrap()
}

/// The code isl makes of a kernel's schedule.
fn code(k: &MappedKernel) -> String {
    let build = isl::AstBuild::from_context(k.context.clone()).unwrap();
    build.node_from_schedule(k.schedule.clone()).unwrap().to_string()
}

#[test]
fn show_all() {
    for (name, _) in KERNELS {
        let s = kernel(name);
        let t = std::time::Instant::now();
        let m = mapped(&s);
        println!("==== {name} {:?}", t.elapsed());
        if std::env::var("SHOW").is_ok_and(|v| name.starts_with(&v)) {
            println!("{m}");
        }
        let t = std::time::Instant::now();
        println!("{}", isl::AstBuild::new(&s.ctx).unwrap().node_from_schedule(m.host.clone()).unwrap());
        for k in &m.kernels {
            println!(
                "{}: grid {:?} block {:?}",
                k.name,
                k.grid.iter().map(|g| g.count.to_string()).collect::<Vec<_>>(),
                k.block.iter().map(|b| b.size).collect::<Vec<_>>()
            );
            println!("{}", code(k));
        }
        println!(
            "  ast {:?} private {:?}",
            t.elapsed(),
            m.placement.iter().filter(|p| **p == Placement::Private).count()
        );
    }
}
