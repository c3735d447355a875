package player;

/** Plays the first legal move. */
public class MachinePlayer extends Player {
  private final int color;
  private final int[][] board = new int[8][8]; // 0: empty; otherwise color + 1

  public MachinePlayer(int color) { this.color = color; myName = "First"; }
  public MachinePlayer(int color, int searchDepth) { this(color); }

  public Move chooseMove() {
    for (int x = 0; x < 8; x++)
      for (int y = 0; y < 8; y++) {
        Move add = new Move(x, y);
        if (make(add, color)) return add;
        for (int i = 0; i < 64; i++) {
          Move step = new Move(x, y, i / 8, i % 8);
          if (make(step, color)) return step;
        }
      }
    return new Move();
  }

  public boolean opponentMove(Move m) { return make(m, 1 - color); }
  public boolean forceMove(Move m) { return make(m, color); }

  private boolean make(Move m, int color) {
    int chips = 0;
    for (int[] column : board) for (int chip : column) if (chip == color + 1) chips++;
    if (m.moveKind != (chips < 10 ? Move.ADD : Move.STEP)) return false;
    if (m.moveKind == Move.STEP) {
      if (board[m.x2][m.y2] != color + 1 || m.x1 == m.x2 && m.y1 == m.y2) return false;
      board[m.x2][m.y2] = 0;
    }
    boolean legal = allowed(m.x1, m.y1, color);
    if (legal) board[m.x1][m.y1] = color + 1;
    else if (m.moveKind == Move.STEP) board[m.x2][m.y2] = color + 1;
    return legal;
  }

  private boolean allowed(int x, int y, int color) {
    boolean sides = x == 0 || x == 7, ends = y == 0 || y == 7;
    if (board[x][y] != 0 || sides && ends || sides && color == 0 || ends && color == 1) return false;
    board[x][y] = color + 1;
    boolean group = false;
    for (int i = 0; i < 64; i++) {
      int neighbours = 0;
      for (int j = 0; j < 64; j++)
        if (i != j && Math.abs(i / 8 - j / 8) <= 1 && Math.abs(i % 8 - j % 8) <= 1 && board[j / 8][j % 8] == color + 1) neighbours++;
      group |= board[i / 8][i % 8] == color + 1 && neighbours > 1;
    }
    board[x][y] = 0;
    return !group;
  }
}
