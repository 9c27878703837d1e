//! Tests of the option `--plot` of `carom collide`.

use crate::run::{CSV, Folder, Run, Test, run};
use serde_json::Value;
use std::error::Error;
use std::fs::{self, File};
use std::io::BufReader;

/// Middle of the plot area, in pixels.
const MIDDLE: [usize; 2] = [695, 610];
/// Pixels inside two coloured discs of the plot's legend: for spheres without contacts, and for the smallest
/// number of contacts above 0.
const ALONE: [usize; 2] = [1281, 159];
const FEWEST: [usize; 2] = [1281, 195];
const BLACK: [u8; 3] = [0, 0, 0];
const ORANGE: [u8; 3] = [230, 85, 0];
const WHITE: [u8; 3] = [255, 255, 255];

struct Picture {
    width: usize,
    bytes: Vec<u8>,
}

impl Picture {
    fn read(path: &str) -> Result<Self, Box<dyn Error>> {
        let mut reader = png::Decoder::new(BufReader::new(File::open(path)?)).read_info()?;
        let mut bytes = vec![0; reader.output_buffer_size().ok_or("too large")?];
        let info = reader.next_frame(&mut bytes)?;
        assert_eq!((info.width, info.height), (1600, 1200));
        assert_eq!(info.color_type, png::ColorType::Rgb);
        let width = usize::try_from(info.width)?;
        Ok(Self { width, bytes })
    }

    fn at(&self, [x, y]: [usize; 2]) -> [u8; 3] {
        let first = 3 * (y * self.width + x);
        [0, 1, 2].map(|part| self.bytes[first + part])
    }
}

/// Runs `carom collide --plot` on lines `x,y,z,radius,vx,vy,vz`, and returns the picture.
fn picture(folder: &Folder, rows: &str) -> Result<Picture, Box<dyn Error>> {
    let input = folder.file("world.csv", format!("x,y,z,radius,vx,vy,vz\n{rows}"))?;
    let plot = folder.path("world.png")?;
    run(&[&input, "--backend", "cpu", "--plot", &plot])?.expect_success(rows);
    Picture::read(&plot)
}

#[test]
fn spheres_have_the_colours_of_the_legend() -> Test {
    let folder = Folder::new("plot-colours")?;
    let beside = [MIDDLE[0], MIDDLE[1] + 100];

    let lonely = picture(&folder, "2,3,4,1.5,0,0,0\n")?;
    assert_eq!(lonely.at(MIDDLE), lonely.at(ALONE));
    assert_ne!(lonely.at(MIDDLE), WHITE);
    assert_eq!(lonely.at([180, 125]), WHITE, "a corner is empty");

    let touching = picture(&folder, "0,0,0,1,0,0,0\n1.5,0,0,1,0,0,0\n")?;
    assert_eq!(touching.at(MIDDLE), BLACK);
    assert_eq!(touching.at(beside), touching.at(FEWEST));
    assert_ne!(touching.at(FEWEST), touching.at(ALONE));
    assert_ne!(touching.at(FEWEST), WHITE);

    let later = picture(&folder, "0,0,0,1,10,0,0\n5,0,0,1,0,0,0\n")?;
    assert_eq!(later.at(MIDDLE), ORANGE);
    assert_eq!(later.at(beside), WHITE, "the area beside the line is empty");
    Ok(())
}

#[test]
fn colours_show_contacts_at_the_start() -> Test {
    let folder = Folder::new("plot-contacts")?;
    // Of three spheres in a row, the middle sphere touches the left sphere at the start, and meets the right
    // sphere later.
    let rows = "-4,0,0,2,0,0,0\n0,0,0,2,0,0,0\n5,0,0,2,-3,0,0\n";
    let picture = picture(&folder, rows)?;
    let above = |x| [x, MIDDLE[1] - 50];
    assert_eq!(picture.at(above(345)), picture.at(FEWEST), "left");
    assert_eq!(picture.at(above(660)), picture.at(FEWEST), "middle");
    assert_eq!(picture.at(above(1050)), picture.at(ALONE), "right");
    assert_eq!(picture.at([500, MIDDLE[1]]), BLACK);
    assert_eq!(picture.at([850, MIDDLE[1]]), ORANGE);
    Ok(())
}

#[test]
fn near_spheres_hide_far_ones() -> Test {
    let folder = Folder::new("plot-depth")?;
    // In each test input, a large third sphere is between the viewer and two touching spheres.
    for rows in [
        "0,0,0,1,0,0,0\n1,0,0,1,0,0,0\n0.5,0,4,3,0,0,0\n",
        "0.5,0,4,3,0,0,0\n0,0,0,1,0,0,0\n1,0,0,1,0,0,0\n",
        // The viewer looks along the axis along which the spheres extend least. In the next input,
        // two distant spheres extend the world along x and z, so the viewer looks along y. In the
        // input after it, they extend the world along y and z, so the viewer looks along x.
        "0,0,0,1,0,0,0\n1,0,0,1,0,0,0\n0.5,-9,0,3,0,0,0\n99,0,99,1,0,0,0\n-98,0,-99,1,0,0,0\n",
        "0,0,0,1,0,0,0\n0,1,0,1,0,0,0\n9,0.5,0,3,0,0,0\n0,99,99,1,0,0,0\n0,-98,-99,1,0,0,0\n",
    ] {
        let picture = picture(&folder, rows)?;
        assert_eq!(picture.at(MIDDLE), picture.at(ALONE), "{rows}");
    }
    Ok(())
}

#[test]
fn every_world_has_a_picture() -> Test {
    let folder = Folder::new("plot-worlds")?;
    let blank = picture(&folder, "")?;
    assert!(
        blank.bytes.iter().any(|&part| part < 128),
        "the picture must say that there are no spheres"
    );
    for rows in [
        // Two test inputs with all spheres at the same centre: first with radius 0, then with a positive
        // radius.
        "1e18,-3,5,0,0,0,0\n1e18,-3,5,0,0,0,0\n",
        "1,1,1,2,0,0,0\n1,1,1,2,0,0,0\n",
        "1e18,1e18,1e18,1e18,0,0,0\n-1e18,-1e18,-1e18,1e17,0,0,0\n",
        "0,0,0,1e-45,0,0,0\n1e-45,0,0,1e-45,0,0,0\n",
        "1e-30,0,0,1e-30,0,0,0\n-1e-30,0,0,1e-30,0,0,0\n",
        "16777216,0,0,0,0,0,0\n16777218,0,0,0,0,0,0\n",
        "-1e18,0,0,1e-30,0,0,0\n1e18,0,0,1e-30,0,0,0\n",
        "0,-1e18,0,0,0,0,0\n0,1e18,0,0,0,0,0\n",
        "0,0,-1e18,0,0,0,0\n0,0,1e18,0,0,0,0\n",
        "0,-1e18,1,0,0,0,0\n1e-30,-1e18,1,0,0,0,0\n",
        "0,0,0,100,0,0,0\n0,0,0,0.001,0,0,0\n1,0,0,0,0,0,0\n",
    ] {
        let picture = picture(&folder, rows)?;
        let paper = picture.at([180, 125]);
        assert_eq!(paper, WHITE, "{rows}");
    }
    Ok(())
}

#[test]
fn plot_works_with_other_options() -> Test {
    let folder = Folder::new("plot-options")?;
    let input = folder.file("world.csv", CSV)?;
    let [plot, pairs] = [folder.path("World.PNG")?, folder.path("pairs.csv")?];
    let run = run(&[
        &input,
        "--backend",
        "cpu",
        "--json",
        "--verify",
        "--plot",
        &plot,
        "--output",
        &pairs,
    ])?;
    run.expect_success("all");
    assert_eq!(serde_json::from_str::<Value>(&run.stdout)?["pairs"], 1);
    Picture::read(&plot)?;
    assert!(fs::exists(&pairs)?);
    assert_eq!(fs::read_dir(&folder.0)?.count(), 3, "no other file is left");
    Ok(())
}

#[test]
fn no_picture_is_left_after_an_error() -> Test {
    let folder = Folder::new("plot-errors")?;
    let input = folder.file("world.csv", CSV)?;
    let broken = folder.file("broken.csv", "x,y,z,radius\n0,0,0,-1\n")?;
    let plot = folder.path("picture.png")?;
    let directory = folder.path("directory.png")?;
    fs::create_dir(&directory)?;
    let nowhere = folder.path("nowhere/picture.png")?;

    let fails = |input: &str, plot: &str, parts: &[&str]| -> Result<Run, Box<dyn Error>> {
        let run = run(&[input, "--backend", "cpu", "--plot", plot])?;
        run.expect_error(plot, 1, parts);
        Ok(run)
    };
    fails(&broken, &plot, &[&broken, "line 2"])?;
    fails(&input, &nowhere, &["cannot write", &nowhere])?;
    fails(&input, &directory, &[&directory, "is a directory"])?;
    assert_eq!(fs::read_dir(&folder.0)?.count(), 3, "no other file is left");
    Ok(())
}
