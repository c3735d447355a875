class Treereduce < Formula
  desc "Exact solutions of board games by MapReduce"
  homepage "https://github.com/treereduce/treereduce"
  version "@VERSION@"@DOWNLOADS@

  conflicts_with "sox", because: "both install `play`"

  def install
    programs = %w[driver driver-aws play mapper reducer]
    # The programs look beside them for one another, and for what play web --export writes.
    libexec.install programs, Dir["*_{map,reduce}"], "play.wasm.gz", "wasm_exec.js"
    bin.write_exec_script(programs.map { |program| libexec/program })
    man1.install Dir["man/*.1"]
    %w[driver driver-aws play].each do |program|
      bash_completion.install "completions/#{program}.bash" => program
      zsh_completion.install "completions/#{program}.zsh" => "_#{program}"
      fish_completion.install "completions/#{program}.fish"
    end
  end

  test do
    assert_match "tie in 9 moves", shell_output("#{bin}/driver solve connectn --width 3 --height 3 --connect 3")
  end
end
