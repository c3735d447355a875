package player;

public class Move {
  public final static int QUIT = 0;
  public final static int ADD = 1;
  public final static int STEP = 2;
  public int moveKind;
  public int x1, y1, x2, y2;
  public Move() { moveKind = QUIT; }
  public Move(int x, int y) { moveKind = ADD; x1 = x; y1 = y; }
  public Move(int newX, int newY, int oldX, int oldY) { moveKind = STEP; x1 = newX; y1 = newY; x2 = oldX; y2 = oldY; }
  public String toString() {
    return moveKind == QUIT ? "[quit]" : moveKind == ADD ? "[add to " + x1 + y1 + "]" : "[step from " + x2 + y2 + " to " + x1 + y1 + "]";
  }
}
