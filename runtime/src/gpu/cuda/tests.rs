use super::*;

fn image(kind: u32, arch: u32) -> Image {
    Image { kind, arch, data: c"x".as_ptr().cast(), bytes: 1 }
}

#[test]
fn images_by_preference() {
    let mixed = [
        image(IMAGE_PTX, 70),
        image(IMAGE_CUBIN, 80),
        image(IMAGE_PTX, 90),
        image(IMAGE_CUBIN, 90),
        image(IMAGE_CUBIN, 86),
        image(7, 50),
    ];
    let texts = [90, 80, 70].map(|arch| image(IMAGE_PTX, arch));
    type Case<'a> = (&'a [Image], u32, &'a [(u32, u32)]);
    // (images, device, usable)
    let table: [Case<'_>; 12] = [
        (&mixed, 60, &[]),
        (&mixed, 75, &[(IMAGE_PTX, 70)]),
        (&mixed, 80, &[(IMAGE_CUBIN, 80), (IMAGE_PTX, 70)]),
        (&mixed, 89, &[(IMAGE_CUBIN, 86), (IMAGE_CUBIN, 80), (IMAGE_PTX, 70)]),
        (&mixed, 90, &[(IMAGE_CUBIN, 90), (IMAGE_PTX, 90), (IMAGE_PTX, 70)]),
        (&mixed, 120, &[(IMAGE_PTX, 90), (IMAGE_PTX, 70)]),
        // Every generation gets its own text, one between two that of the earlier one.
        (&texts, 61, &[]),
        (&texts, 75, &[(IMAGE_PTX, 70)]),
        (&texts, 80, &[(IMAGE_PTX, 80), (IMAGE_PTX, 70)]),
        (&texts, 89, &[(IMAGE_PTX, 80), (IMAGE_PTX, 70)]),
        (&texts, 90, &[(IMAGE_PTX, 90), (IMAGE_PTX, 80), (IMAGE_PTX, 70)]),
        (&texts, 100, &[(IMAGE_PTX, 90), (IMAGE_PTX, 80), (IMAGE_PTX, 70)]),
    ];
    for (images, arch, expected) in table {
        let found: Vec<_> =
            usable_images(images, arch).iter().map(|image| (image.kind, image.arch)).collect();
        assert_eq!(found, expected, "sm_{arch}");
    }
}
